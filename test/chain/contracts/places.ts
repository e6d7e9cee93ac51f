import { ESCROW, UPTO } from '../../../service/chain/networks.ts'

/** Where the fixtures are put; the token and Multicall3 are at their real addresses, and so is the escrow. */
export const PLACES = {
  multicall: '0xca11bde05977b3631167028862be2a173976ca11',
  implementation: '0xc0150070000000000000000000000000000000aa',
  checker: '0xc0150070000000000000000000000000000000cc',
  escrow: ESCROW.address,
  collector: ESCROW.collector,
  permit2: UPTO.permit2,
  uptoProxy: UPTO.proxy,
  refundCollector: '0x7a03443724d14798c4ab4622f1daaca761fea486',
} as const
