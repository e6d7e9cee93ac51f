import { keccak256 as reference } from 'viem'
import { checksummed } from '../../service/chain/keys.ts'
import { loadKeccak } from '../../service/chain/curve.ts'
import { recipientAddress } from '../../service/kit/address.ts'
import { hasSoundChecksum, keccak256 } from '../../service/kit/keccak.ts'
import { generator } from '../harness/random.ts'

describe('the address of a receiver', () => {
  test('is taken in one case, or with the checksum that the chain’s own code gives it', async () => {
    const keccak = await loadKeccak()
    const random = generator(55)
    for (let n = 0; n < 300; n++) {
      const digits = Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('')
      const written = checksummed(keccak, `0x${digits}`)
      expect([hasSoundChecksum(`0x${digits}`), hasSoundChecksum(`0x${digits.toUpperCase()}`)]).toEqual([true, true])
      expect([written, hasSoundChecksum(written)]).toEqual([written, true])
      const letter = written.slice(2).search(/[a-f]/i) + 2
      const slip = written[letter] === written[letter]!.toLowerCase() ? 'toUpperCase' : 'toLowerCase'
      const wrong = written.slice(0, letter) + written[letter]![slip]() + written.slice(letter + 1)
      const isOneCase = [wrong.slice(2).toLowerCase(), wrong.slice(2).toUpperCase()].includes(wrong.slice(2))
      expect([wrong, hasSoundChecksum(wrong)]).toEqual([wrong, isOneCase])
    }
  })

  test('keccak256 of any length is that of viem', () => {
    const random = generator(56)
    for (const length of [0, 1, 135, 136, 137, 271, 272, 273, 1_000]) {
      const data = Uint8Array.from({ length }, () => Math.floor(random() * 256))
      expect(`0x${Buffer.from(keccak256(data)).toString('hex')}`).toBe(reference(data))
    }
  })

  test('names the fault: the form or the checksum', () => {
    const fault = (text: string) => recipientAddress.safeParse(text).error?.issues[0]?.message
    expect(fault('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')).toBeUndefined()
    expect(fault('0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913')).toMatch(/checksum/)
    expect(fault('0x12')).toMatch(/40 hexadecimal/)
  })
})
