/** The TypeScript types of the API in this OpenAPI document. */
export function typesOf(document: Readonly<Record<string, unknown>>): string
