/** What a contract said when it reverted, where it said it in words. */
export function reasonOf(answer: Buffer): string | null {
  if (answer.length < 4) return null
  const selector = answer.toString('hex', 0, 4)
  if (selector === PANIC) return `Panic(0x${answer.toString('hex', answer.length - 1)})`
  if (selector !== ERROR || answer.length < TEXT_AT) return null
  const length = answer.readUInt32BE(TEXT_AT - 4)
  // A contract can claim any length; what is there is what it said.
  return answer.toString('utf8', TEXT_AT, Math.min(answer.length, TEXT_AT + length))
}

const ERROR = '08c379a0' // Error(string)
const PANIC = '4e487b71' // Panic(uint256)
/** Behind the selector, the offset and the length. */
const TEXT_AT = 4 + 2 * 32
