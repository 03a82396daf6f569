import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { toast } from '../../component/toast.tsx'

/** Something that is changed on the gateway: says so when it is, and has the lists that show it asked for again. */
export function useChange<Given, Answered>(
  send: (given: Given) => Promise<Answered>,
  {
    said,
    stale,
    done,
  }: { said?: string; stale: readonly QueryKey[]; done?: (answered: Answered, given: Given) => void },
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: async (answered, given) => {
      if (said !== undefined) toast(said)
      done?.(answered, given)
      await Promise.all(stale.map((queryKey) => queries.invalidateQueries({ queryKey })))
    },
  })
}
