import type { Notice } from './telling.ts'

/** In plain text, to whoever owns what it is about. */
export function toMail({ event, id, about }: Notice): { subject: string; text: string } {
  switch (event) {
    case 'delivery.unconfirmed':
      return {
        subject: 'A paid delivery was taken and never confirmed',
        text: `Your workflow took the delivery ${id} (for ${about}) and did not confirm it.

It may have run, wholly or in part, so it is not sent again by itself. Look at what it did; if it has to run again,
redeliver ${id}.
`,
      }
    case 'delivery.stopped':
      return {
        subject: 'A paid delivery was turned away for good',
        text: `The receiver of the delivery ${id} (for ${about}) answered 410: it wants no such delivery any more.

If it should have taken it, mend the receiver and redeliver ${id}.
`,
      }
    case 'delivery.exhausted':
      return {
        subject: 'A paid delivery could not be delivered',
        text: `The delivery ${id} (for ${about}) was tried until its schedule was used up, and no attempt succeeded.

Once its receiver works again, redeliver ${id}.
`,
      }
    case 'endpoint.disabled':
      return {
        subject: 'A webhook endpoint was disabled',
        text: `For five days every delivery to ${about} failed, so the endpoint ${id} was disabled and is told nothing more.

Once it works again, enable it.
`,
      }
  }
}
