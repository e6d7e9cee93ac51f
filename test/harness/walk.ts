import { Session } from 'node:inspector/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const SERVICE = `${path.resolve(import.meta.dirname, '../../service')}/`

/** The files of the service of which a function ran each time that this was done: what runs beside it now and then is not. */
export async function walkOf(work: () => Promise<unknown>, times = 3): Promise<string[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const walks: ReadonlySet<string>[] = []
  for (let time = 0; time < times; time++) {
    // What ran until here is forgotten.
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    walks.push(new Set(ran.map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url))))
  }
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const [first = new Set<string>(), ...others] = walks
  return [...first]
    .filter((file) => file.startsWith(SERVICE) && others.every((other) => other.has(file)))
    .map((file) => file.slice(SERVICE.length))
    .sort()
}
