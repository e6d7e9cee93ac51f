import { createServer, type AddressInfo } from 'node:net'
import { logMailer, smtpMailer } from '../../service/mail/mailer.ts'
import { startSmtp } from '../harness/smtp.ts'
import { callerOf, openWorld, post } from './world.ts'

describe('mail', () => {
  it('reaches the mail server with the link, under one id for every try', async () => {
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
      expect(text).toMatch(/http:\/\/localhost:4020\/verify-email\?token=[\w.-]+/)
      const ids = smtp.received.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1])
      expect(ids).toEqual(['<coinslot-1@coinslot.example>', '<coinslot-1@coinslot.example>'])
    } finally {
      mailer.close()
      await world.close()
      await smtp.close()
    }
  })

  it('fails with mail_not_sent when the server refuses it or is down', async () => {
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

  it('is given up after a time where the server does not take it', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `smtp://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    const mailer = smtpMailer({ url, from: 'hello@coinslot.example', mostMs: 10 })
    const mail = { id: '1', to: 'ann@example.com', subject: 'Hello', text: 'Hello.' }
    await expect(mailer.send(mail)).rejects.toMatchObject({
      code: 'mail_not_sent',
      cause: expect.objectContaining({ message: 'the mail took longer than 10 ms' }) as Error,
    })
    mailer.close()
    await new Promise((resolve) => server.close(resolve))
  })

  it('about what programs do is sent a limited number of times, and a retry is not counted again', async () => {
    const counted: string[] = []
    const mayMailOwner = async (kind: string, userId: string) => counted.push(`${kind} ${userId}`) <= 2
    const world = await openWorld({ mayMailOwner })
    try {
      const body = { email: 'owner@example.com', password: 'correct horse battery', name: 'Ann' }
      const { body: answer } = await post(world, '/sign-up/email', body)
      const { id } = answer['user'] as { id: string }
      await world.database.prisma.signInUser.update({ where: { id }, data: { emailVerified: true } })
      await callerOf(world, answer['token'] as string)
      const tell = (mail: string, attempt: number) =>
        world.identity.mailCounted(
          id,
          { id: mail, subject: mail, text: 'Hello.' },
          { kind: 'delivery.stopped', attempt },
        )
      for (const mail of ['1', '2', '3', '4']) await tell(mail, 0)
      await tell('2', 1)
      expect(world.mails.filter(({ to }) => to === 'owner@example.com').map(({ subject }) => subject)).toEqual([
        '1',
        '2',
        '2',
      ])
      expect(counted).toEqual(Array<string>(4).fill(`delivery.stopped ${id}`))
    } finally {
      await world.close()
    }
  })

  it('is logged where there is no mail server', async () => {
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
