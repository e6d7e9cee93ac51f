import { DomainError, invalid } from '../kit/errors.ts'
import type { Use } from './model.ts'

/** The same for a file that never existed and for another account's. */
export function fileMissing(): DomainError {
  return new DomainError('missing', 'file_not_found', 'You have no such file.')
}

/** In the terms of a checkout or a page, under the name of their field. */
export function fileUnknown(field: string): DomainError {
  return invalid({ [field]: 'must be the id of a file that you have uploaded' })
}

/** The seller deleted what was paid for. */
export function fileGone(): DomainError {
  const sentence = 'The seller has removed this file. Ask the seller for it, or report a problem with the payment.'
  return new DomainError('expired', 'file_removed', sentence)
}

/** Before an order names it, or after its time. */
export function uploadMissing(): DomainError {
  const sentence = 'There is no such file, or it is stored no longer. Ask for it again.'
  return new DomainError('missing', 'file_not_found', sentence)
}

export function tooManyUploads(): DomainError {
  const sentence = 'This checkout takes no more files right now. Enter a link to the file instead, or try again later.'
  return new DomainError('limited', 'too_many_uploads', sentence, { retryAfterSeconds: 600 })
}

export function fileEmpty(): DomainError {
  return invalid({ body: 'must be the bytes of the file' })
}

export function fileTooLarge(bytesMax: number): DomainError {
  return new DomainError(
    'too-large',
    'file_too_large',
    `The file is too large: it may have at most ${String(bytesMax)} bytes. Upload a smaller one.`,
    { limit: bytesMax },
  )
}

export function notAPicture(why: string): DomainError {
  return new DomainError('unsupported', 'picture_not_supported', `${why} Upload a PNG, JPEG or WebP picture.`)
}

export function fileUsed(uses: readonly Use[]): DomainError {
  const current = uses.filter((use) => use.current)
  const [named, sentence] =
    current.length > 0
      ? [current, `This file is still used by ${listed(current)}. Remove it there first.`]
      : [uses, `Buyers of ${listed(uses)} can still download this file. To remove it all the same, send soldToo=true.`]
  return new DomainError('conflict', 'file_used', sentence, {
    usedBy: named.map(({ subject }) => subject),
    sold: uses.some(({ sold }) => sold),
  })
}

function listed(uses: readonly Use[]): string {
  const names = uses.slice(0, NAMED_MAX).map(({ subject }) => subject)
  const more = uses.length - names.length
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${String(more)} more`
}

const NAMED_MAX = 5
