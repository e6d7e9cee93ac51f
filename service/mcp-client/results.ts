import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { plain } from '../kit/schema/bounded.ts'
import { upstreamError } from '../tools/errors/call.ts'
import type { Output } from '../tools/model/call.ts'

/** What a server's tool answered; an answer that says it failed is a failure. */
export function toOutput({ content, structuredContent, isError }: CallToolResult): Output {
  if (isError === true) {
    throw upstreamError('The tool failed.', { status: 200, message: plain(textOf(content), MESSAGE_MAX) || null })
  }
  if (structuredContent !== undefined) return { kind: 'json', value: structuredContent }
  const [first] = content
  if (content.length === 1 && (first?.type === 'image' || first?.type === 'audio')) {
    const { data, mimeType } = first
    return { kind: 'binary', value: { contentType: mimeType, base64: data, bytes: Buffer.byteLength(data, 'base64') } }
  }
  if (content.every(({ type }) => type === 'text')) return { kind: 'text', value: textOf(content) }
  return { kind: 'json', value: { content } }
}

function textOf(content: CallToolResult['content']): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

const MESSAGE_MAX = 500
