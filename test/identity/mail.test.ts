import { createServer, type AddressInfo, type Server } from 'node:net'
import { logMailer, smtpMailer } from '../../service/mail/mailer.ts'
import { openWorld, post } from './world.ts'

/** As much of a mail server as it takes to be given a mail. */
function startSmtp(refuse = false): Promise<{ url: string; received: string[]; close(): Promise<void> }> {
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

describe('mail', () => {
  it('reaches the mail server with the link, and under one id however often it is tried', async () => {
    const smtp = await startSmtp()
    const mailer = smtpMailer({ url: smtp.url, from: 'Coinslot <hello@coinslot.example>' })
    const world = await openWorld({ mailer })
    try {
      const body = { email: 'ann@example.com', password: 'correct horse battery', name: 'Ann' }
      const { body: answer } = await post(world, '/sign-up/email', body)
      await world.deliver()
      await world.identity.sendConfirmation((answer['user'] as { id: string }).id, '1')
      expect(smtp.received).toHaveLength(2)
      const text = smtp.received[0]!.replaceAll('=\n', '').replaceAll('=3D', '=')
      expect(text).toMatch(/^To: ann@example\.com$/m)
      expect(text).toMatch(/^From: Coinslot <hello@coinslot\.example>$/m)
      expect(text).toMatch(/http:\/\/localhost:4020\/auth\/verify-email\?token=[\w.-]+/)
      const ids = smtp.received.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1])
      expect(ids).toEqual(['<coinslot-1@coinslot.example>', '<coinslot-1@coinslot.example>'])
    } finally {
      mailer.close()
      await world.close()
      await smtp.close()
    }
  })

  it('that the server refuses, or that finds no server, fails so that it is tried again', async () => {
    const smtp = await startSmtp(true)
    const mailer = smtpMailer({ url: smtp.url, from: 'hello@coinslot.example' })
    const mail = { id: '1', to: 'ann@example.com', subject: 'Hello', text: 'Hello.' }
    await expect(mailer.send(mail)).rejects.toMatchObject({ code: 'mail_not_sent' })
    mailer.close()
    await smtp.close()
    const nowhere = smtpMailer({ url: smtp.url, from: 'hello@coinslot.example' })
    await expect(nowhere.send(mail)).rejects.toMatchObject({ code: 'mail_not_sent' })
    nowhere.close()
  })

  it('goes to the log where there is no mail server', async () => {
    const lines: Record<string, unknown>[] = []
    const note = (fields: Record<string, unknown>) => void lines.push(fields)
    await logMailer({ info: note, warn: note, error: note }).send({
      id: '1',
      to: 'a@example.com',
      subject: 's',
      text: 'https://link',
    })
    expect(lines).toEqual([{ to: 'a@example.com', subject: 's', text: 'https://link' }])
  })
})
