import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can be cut, as a network is: whoever goes through it is thrown out, and finds it shut until it is mended. */
export class CuttableConnection {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((client) => this.#join(client))
  readonly #port: number
  #cut = false

  private constructor(port: number) {
    this.#port = port
  }

  static async open(port: number): Promise<CuttableConnection> {
    const connection = new CuttableConnection(port)
    await new Promise<void>((resolve) => connection.#server.listen(0, '127.0.0.1', resolve))
    return connection
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut(): void {
    this.#cut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#cut = false
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: Socket): void {
    if (this.#cut) return void client.destroy()
    const server = connect(this.#port, '127.0.0.1')
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(server).pipe(client)
  }
}
