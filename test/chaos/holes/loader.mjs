let patch = null

export function initialize(data) {
  patch = data
}

export async function load(url, context, next) {
  const loaded = await next(url, context)
  if (patch === null || !url.includes('/service/dist/')) return loaded
  const source = Buffer.from(loaded.source).toString()
  return { ...loaded, source: source.replace(patch.from, () => patch.to) }
}
