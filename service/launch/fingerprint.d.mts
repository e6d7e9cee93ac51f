export function filesUnder(folder: string, without?: readonly string[]): string[]
export function contentsOf(file: string): string
export function hashOf(files: readonly string[]): string
export function reachedFrom(files: readonly string[]): string[]
export function sha256(texts: Iterable<string | Uint8Array>): string
