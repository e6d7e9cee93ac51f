interface Step {
  readonly name: string
  readonly run: readonly string[]
}
export const STEPS: readonly Step[]
export function stepsFor(files: readonly string[], there: readonly string[]): readonly Step[]
