import { createServer, type AddressInfo, type Server } from 'node:net'

/** A minimal mail server that accepts mails. */
export function startSmtp(refuse = false): Promise<{ url: string; received: string[]; close(): Promise<void> }> {
  const received: string[] = []
  const server: Server = createServer((socket) => {
    let data: string | null = null
    let pending = ''
    socket.on('error', () => undefined)
    socket.write('220 here\r\n')
    socket.on('data', (chunk) => {
      pending += chunk.toString()
      for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
        const line = pending.slice(0, end)
        pending = pending.slice(end + 2)
        if (data !== null) {
          if (line !== '.') data += `${line}\n`
          else {
            received.push(data)
            data = null
            socket.write('250 taken\r\n')
          }
        } else if (/^DATA/i.test(line)) {
          data = ''
          socket.write('354 go on\r\n')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else if (refuse && /^RCPT/i.test(line)) socket.write('550 nobody here\r\n')
        else socket.write('250 yes\r\n')
      }
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const url = `smtp://127.0.0.1:${String((server.address() as AddressInfo).port)}`
      resolve({ url, received, close: () => new Promise((done) => void server.close(() => done())) })
    })
  })
}

/** The link to this path in a mail to this address, as soon as the mail has come. */
export async function linkIn(received: readonly string[], to: string, path: string): Promise<string> {
  for (;;) {
    for (const mail of received) {
      const link = new RegExp(`http://\\S*${path}\\S*`).exec(mail.replace(/=\n/g, '').replace(/=3D/g, '='))
      if (mail.includes(to) && link !== null) return link[0]
    }
    await new Promise(setImmediate)
  }
}
