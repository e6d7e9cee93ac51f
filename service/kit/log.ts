/** What the parts say to whoever runs them. The edge gives them its logger, a test one that remembers. */
export interface Log {
  info(fields: Record<string, unknown>, text: string): void
  warn(fields: Record<string, unknown>, text: string): void
  error(fields: Record<string, unknown>, text: string): void
}
