/** An operation as the reference shows it. */
export interface ReferenceSample {
  name: string
  curl: string
  typescript: string
  python: string
}

/** The samples in a document of a running service. */
export async function referenceSamples(origin: string, document = 'openapi'): Promise<readonly ReferenceSample[]> {
  const response = await fetch(`${origin}/${document}.json`)
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const sourceOf = (lang: string): string =>
        operation['x-codeSamples'].find((sample) => sample.lang === lang)?.source ?? ''
      return {
        name: `${method.toUpperCase()} ${path}`,
        curl: sourceOf('curl'),
        typescript: sourceOf('typescript'),
        python: sourceOf('python'),
      }
    }),
  )
}

interface Operation {
  'x-codeSamples': readonly { lang: string; source: string }[]
}
