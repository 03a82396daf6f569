import { connect, type Socket } from 'node:net'

/** What is asked, again and again. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly key?: string
  readonly body?: string
  readonly connections: number
  readonly ms: number
}

/** How many answers came in a second, how long each took in milliseconds, and the last one's body. */
export interface Loaded {
  readonly perSecond: number
  readonly times: readonly number[]
  readonly body: string
  readonly status: number
}

/** Asks over so many connections at once, each with one request at a time, for so long. Written by hand, because a client that does more takes the core that the server needs. */
export async function load({ port, path, key, body, connections, ms }: Load): Promise<Loaded> {
  const text = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'host: bench',
    ...(key === undefined ? [] : [`x-api-key: ${key}`]),
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
    '',
    body ?? '',
  ].join('\r\n')
  const request = Buffer.from(text)
  const times: number[] = []
  const last = { body: '', status: 0 }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, () => askFor(port, request, began + ms, times, last)))
  return { perSecond: times.length / ((performance.now() - began) / 1000), times, ...last }
}

function askFor(
  port: number,
  request: Buffer,
  until: number,
  times: number[],
  last: { body: string; status: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let parts: Buffer[] = []
    let length = 0
    let wanted = -1
    let sent = 0
    const ask = () => {
      parts = []
      length = 0
      wanted = -1
      sent = performance.now()
      socket.write(request)
    }
    socket.once('connect', ask)
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      parts.push(chunk)
      length += chunk.length
      if (wanted === -1) {
        const head = Buffer.concat(parts).toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        wanted = end + 4 + Number(/content-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0)
      }
      if (length < wanted) return
      times.push(performance.now() - sent)
      if (performance.now() < until) return ask()
      const whole = Buffer.concat(parts).toString('utf8')
      last.status = Number(whole.slice(9, 12))
      last.body = whole.slice(whole.indexOf('\r\n\r\n') + 4)
      socket.destroy()
      resolve()
    })
  })
}
