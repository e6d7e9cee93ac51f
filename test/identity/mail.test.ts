import { logMailer, smtpMailer } from '../../service/mail/mailer.ts'
import { startSmtp } from '../harness/smtp.ts'
import { openWorld, post } from './world.ts'

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
      expect(text).toMatch(/http:\/\/localhost:4020\/auth\/verify-email\?token=[\w.-]+/)
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
