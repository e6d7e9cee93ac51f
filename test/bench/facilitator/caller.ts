import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/**
 * One connection, one request at a time. The callers share the machine with the service they measure, and an HTTP
 * client would spend as much of it on a request as the service spends on a good part of the response.
 */
export class Caller {
  private socket: Socket | null = null
  private readonly host: string
  private readonly port: number
  private readonly path: string

  constructor(address: string) {
    const { hostname, port, pathname } = new URL(address)
    this.host = hostname
    this.port = Number(port)
    this.path = pathname
  }

  /** Returns the response body for every status; rejects when no response came within the time. */
  async post(body: Buffer, patienceMs: number): Promise<string> {
    const socket = (this.socket ??= await this.open())
    try {
      const answer = await new Promise<string>((resolve, reject) => {
        let received = ''
        socket.removeAllListeners()
        socket.on('data', (text: string) => {
          received += text
          const answer = bodyOf(received)
          if (answer === null) return
          // After a thousand requests the service closes the connection; a request sent into it would be lost.
          if (/\r\nconnection: close\r\n/i.test(received)) this.close()
          resolve(answer)
        })
        socket.once('error', reject)
        socket.once('close', () => reject(new Error('closed')))
        socket.setTimeout(patienceMs, () => reject(new Error('no answer')))
        const lines = [`POST ${this.path} HTTP/1.1`, `host: ${this.host}`, 'content-type: application/json']
        socket.cork()
        socket.write(`${lines.join('\r\n')}\r\ncontent-length: ${String(body.length)}\r\n\r\n`)
        socket.write(body)
        socket.uncork()
      })
      return answer
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.socket?.removeAllListeners().on('error', () => undefined)
    this.socket?.destroy()
    this.socket = null
  }

  private async open(): Promise<Socket> {
    const socket = connect(this.port, this.host).setNoDelay(true).setEncoding('latin1')
    await once(socket, 'connect')
    return socket
  }
}

function bodyOf(response: string): string | null {
  const end = response.indexOf('\r\n\r\n')
  if (end === -1) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(response)?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${response.slice(0, end)}`)
  const body = response.slice(end + 4)
  return body.length < Number(length) ? null : body
}
