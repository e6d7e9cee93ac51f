import { register } from 'node:module'

/** The suites import `globSync`, which Node 20 has not, for a command that is not used here. */
register(
  `data:text/javascript,${encodeURIComponent(`
export async function resolve(specifier, context, next) {
  const isFsModule = /^(node:)?fs$/.test(specifier) && /[/](@modelcontextprotocol[/]conformance|conformance-next)[/]/.test(context.parentURL)
  return isFsModule ? { url: 'coinslot:fs', format: 'module', shortCircuit: true } : next(specifier, context)
}
export async function load(url, context, next) {
  if (url !== 'coinslot:fs') return next(url, context)
  const source = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => []"
  return { format: 'module', source, shortCircuit: true }
}`)}`,
)
