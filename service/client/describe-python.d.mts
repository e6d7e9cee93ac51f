export function pythonTypesOf(described: Record<string, unknown>): string
export function syncOf(text: string): string
