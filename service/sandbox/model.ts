export type Kind = 'mail' | 'delivery'

export interface Message<Content> {
  content: Content
  createdAt: Date
}

export interface MessageStore {
  add(kind: Kind, content: unknown, now: Date): Promise<void>
  /** The newest first. */
  newest<Content>(kind: Kind): Promise<Message<Content>[]>
}
