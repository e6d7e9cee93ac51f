import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { DockerfileParser, type Copy, type From, type JSONInstruction } from 'dockerfile-ast'

const file = DockerfileParser.parse(readFileSync('deploy/Containerfile', 'utf8'))
const instructions = file.getInstructions()
const start = instructions.findLastIndex((instruction) => instruction.getKeyword() === 'FROM')
const [building, running] = [instructions.slice(0, start), instructions.slice(start)]
const of = (list: typeof instructions, keyword: string) => list.filter((one) => one.getKeyword() === keyword)
const wordsOf = (list: typeof instructions, keyword: string) =>
  of(list, keyword).map((one) => one.getArgumentsContent() ?? '')
const copies = (list: typeof instructions) => list.filter((one): one is Copy => one.getKeyword() === 'COPY')
const bases = instructions.filter((one): one is From => one.getKeyword() === 'FROM').map((from) => from.getImage())
const contents = readFileSync('service/launch/image.mjs', 'utf8')

describe('deploy/Containerfile', () => {
  it('copies only existing paths that its ignore file allows', () => {
    const allowed = readFileSync('deploy/Containerfile.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const copied = copies(building)
      .filter((copy) => copy.getFromFlag() === null)
      .flatMap((copy) => copy.getArguments().slice(0, -1))
      .map((argument) => argument.getValue())
    expect(copied.length).toBeGreaterThan(5)
    for (const source of copied) {
      expect([source, existsSync(source)]).toEqual([source, true])
      expect([source, allowed.some((name) => source === name || source.startsWith(`${name}/`))]).toEqual([source, true])
    }
  })

  it('builds on one pinned base, whose Node the project supports', () => {
    expect(new Set(bases).size).toBe(1)
    expect(bases[0]).toMatch(/^node:20\.(19|[2-9]\d)\.\d+-[a-z]+-slim$/)
  })

  it('copies only the assembled files into the image, without a package manager', () => {
    expect(wordsOf(running, 'COPY')).toEqual(['/image /srv/coinslot'])
    expect(copies(running).map((copy) => copy.getFromFlag()?.getValue())).toEqual(['build'])
    const [run = ''] = wordsOf(running, 'RUN')
    expect(run).toContain('/usr/local/lib/node_modules/npm')
    for (const words of wordsOf(running, 'RUN')) expect(words).not.toMatch(/apt|curl|wget|npm (ci|install)/)
    expect(wordsOf(building, 'RUN').at(-1)).toBe('node service/launch/image.mjs /image')
  })

  it('runs as an unprivileged user, receives SIGTERM itself and reports its health', () => {
    expect(wordsOf(running, 'USER')).toEqual(['1000:1000'])
    const [command] = running.filter((one): one is JSONInstruction => one.getKeyword() === 'CMD')
    expect(command!.getJSONStrings().map((word) => word.getJSONValue())).toEqual(['node', 'service/dist/main.js'])
    expect(of(running, 'ENTRYPOINT')).toEqual([])
    expect(wordsOf(running, 'STOPSIGNAL')).toEqual(['SIGTERM'])
    expect(wordsOf(running, 'HEALTHCHECK')[0]).toContain('/healthz')
  })

  it('starts files that the assembly contains', () => {
    for (const name of [...contents.matchAll(/^ {2}'([^']+)',$/gm)].map(([, found]) => found!)) {
      if (name.startsWith('service/dist') || name.startsWith('.build')) continue
      expect([name, existsSync(path.resolve(name))]).toEqual([name, true])
    }
    expect(contents).toContain("'service/dist'")
    expect(contents).toContain('--omit=dev')
  })
})
