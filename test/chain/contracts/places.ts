/** Where the fixtures are put; the token and Multicall3 are at their real addresses. */
export const PLACES = {
  multicall: '0xca11bde05977b3631167028862be2a173976ca11',
  implementation: '0xc0150070000000000000000000000000000000aa',
  checker: '0xc0150070000000000000000000000000000000cc',
} as const
