export function buildsFor(files: readonly string[]): Set<string>
