import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Diff } from '../../component/diff.tsx'
import { MoreButton } from '../../component/more-button.tsx'
import { Time } from '../../component/time.tsx'
import { ask } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { usePages } from '../../server/use-pages.ts'

type Kind = 'runbooks' | 'policies'

/** Every version there was, and what each changed. */
export function VersionsPanel({
  kind,
  id,
  newest,
  onTake,
}: {
  kind: Kind
  id: string
  newest: number
  onTake?: (text: string) => void
}) {
  const [chosen, setChosen] = useState<number>(newest)
  const list = usePages([kind, 'versions', id], (cursor, signal) =>
    ask(`GET /${kind}/{id}/versions`, {
      params: { id },
      query: cursor === undefined ? {} : { cursor },
      signal,
    }),
  )
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-[18rem_1fr]">
      <Loaded query={list} lines={4}>
        {(versions) => (
          <div>
            <ul className="flex flex-col gap-1">
              {versions.map(({ version, by, at, note, commit }) => (
                <li key={version}>
                  <button
                    type="button"
                    aria-pressed={chosen === version}
                    onClick={() => setChosen(version)}
                    className="w-full rounded-md border border-line px-3 py-2 text-left text-sm hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft"
                  >
                    <span className="font-medium">Version {version}</span>
                    {commit !== null && <code className="ml-2 text-xs">{commit.slice(0, 8)}</code>}
                    <span className="block text-xs text-muted">
                      {by} · <Time at={at} />
                    </span>
                    {note !== null && note !== '' && <span className="block text-xs">{note}</span>}
                  </button>
                </li>
              ))}
            </ul>
            <MoreButton list={list} />
          </div>
        )}
      </Loaded>
      <Change
        kind={kind}
        id={id}
        version={chosen}
        {...(onTake === undefined || chosen === newest ? {} : { onTake })}
      />
    </div>
  )
}

function Change({
  kind,
  id,
  version,
  onTake,
}: {
  kind: Kind
  id: string
  version: number
  onTake?: (text: string) => void
}) {
  const query = useQuery({
    queryKey: [kind, 'change', id, version],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const whole = await ask(`GET /${kind}/{id}/versions/{version}`, { params: { id, version }, signal })
      if (version === 1)
        return {
          text: whole.text,
          lines: whole.text.split('\n').map((text) => ({ kind: 'added' as const, text })),
        }
      const { lines } = await ask(`GET /${kind}/{id}/diff`, {
        params: { id },
        query: { from: version - 1, to: version },
        signal,
      })
      return { text: whole.text, lines }
    },
  })
  return (
    <Loaded query={query} lines={8}>
      {({ text, lines }) => (
        <div className="min-w-0">
          <div className="mb-2 flex items-center justify-between gap-2">
            <h3 className="text-sm font-semibold">What version {version} changed</h3>
            {onTake !== undefined && (
              <Button small onClick={() => onTake(text)}>
                Edit from this version
              </Button>
            )}
          </div>
          <Diff lines={lines} label={`What version ${version} changed`} />
        </div>
      )}
    </Loaded>
  )
}
