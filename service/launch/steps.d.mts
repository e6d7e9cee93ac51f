export function currentCommit(folder?: string): { commit: string; changed: boolean }
