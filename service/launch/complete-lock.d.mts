export interface MissingPlatform {
  name: string
  version: string
  dev: boolean | undefined
}

export function missingPlatforms(lock: unknown): MissingPlatform[]
