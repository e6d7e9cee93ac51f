import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { emptyDatabase } from '../harness/database.ts'
import { startRedis } from '../queue/redis.ts'
import { N8n, type Installed } from './n8n.ts'
import { installPackage } from './world.ts'

/** An n8n in queue mode: a main, a process that only takes webhooks, and two workers, each as on a machine of its own. */
export interface Scaled {
  main: N8n
  workers: [N8n, N8n]
  network: Network
  /** Ends all of its processes and starts them again. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function startScaled(installed: Installed, folder: string): Promise<Scaled> {
  const [redis, database, network] = await Promise.all([startRedis(), emptyDatabase(), Network.start()])
  const environment = {
    ...databaseOf(database.url),
    EXECUTIONS_MODE: 'queue',
    QUEUE_BULL_REDIS_HOST: '127.0.0.1',
    QUEUE_BULL_REDIS_PORT: new URL(redis.url).port,
    N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
    // A worker that was killed is noticed within seconds instead of half a minute.
    QUEUE_WORKER_LOCK_DURATION: '3000',
    QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
    QUEUE_WORKER_STALLED_INTERVAL: '1000',
    // Every delivery comes through the network below.
    WEBHOOK_URL: `${network.origin}/`,
  }
  const process = async (name: string, command?: 'worker' | 'webhook'): Promise<N8n> => {
    const home = path.join(folder, name)
    await installPackage(home)
    return await N8n.start(installed, home, { environment, ...(command !== undefined && { command }) })
  }
  // The main brings the database up to date, before the others use it.
  const main = await process('main')
  const [door, ...workers] = await Promise.all([
    process('webhook', 'webhook'),
    process('worker-1', 'worker'),
    process('worker-2', 'worker'),
  ])
  network.doors = [main.origin, door.origin]
  return {
    main,
    workers,
    network,
    async restart() {
      await main.restart()
      await Promise.all([door, ...workers].map((one) => one.restart()))
    },
    async close() {
      await Promise.all([...workers, door].map((one) => one.stop()))
      await main.stop()
      await network.close()
      await Promise.all([redis.close(), database.drop()])
    },
  }
}

function databaseOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: hostname,
    DB_POSTGRESDB_PORT: port,
    DB_POSTGRESDB_USER: decodeURIComponent(username),
    DB_POSTGRESDB_PASSWORD: decodeURIComponent(password),
    DB_POSTGRESDB_DATABASE: pathname.slice(1),
    DB_POSTGRESDB_POOL_SIZE: '4',
  }
}

/** What lies between the service and n8n. It brings each delivery twice, once to each process that takes webhooks. */
export class Network {
  doors: string[] = []
  /** How many deliveries have come. */
  arrived = 0
  /** How many deliveries wait for each other, to go on in reverse order. */
  gathers = 1
  /** How many answers of n8n get lost on the way back. */
  loses = 0
  private waiting: (() => void)[] = []

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Network> {
    const server = createServer()
    const network = new Network(server)
    server.on('request', (request, response) => {
      network.bring(request, response).catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return network
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private async bring(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const isDelivery = request.headers['webhook-id'] !== undefined
    const send = async (door: string): Promise<Passed> => await pass(door, request, body)
    if (!isDelivery) return reply(response, await send(this.doors[0]!))
    this.arrived++
    await this.turn()
    const answers = await Promise.all(this.doors.map(send))
    if (this.loses > 0) {
      this.loses--
      response.destroy()
      return
    }
    // A connection carries one answer: that of the copy that ran, where one of them did.
    reply(response, answers.find(({ text }) => !text.includes('"duplicate"')) ?? answers[0]!)
  }

  /** Waits until as many are here as wait for each other; the last one goes first. */
  private async turn(): Promise<void> {
    const mine = new Promise<void>((resolve) => this.waiting.unshift(resolve))
    if (this.waiting.length >= this.gathers) for (const release of this.waiting.splice(0)) release()
    await mine
  }
}

interface Passed {
  status: number
  type: string
  text: string
}

async function pass(door: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Passed> {
  const forwarded = Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
  const response = await fetch(door + (url ?? ''), {
    method: method ?? 'GET',
    headers: Object.fromEntries(forwarded.map(([name, value]) => [name, String(value)])),
    ...(body.length > 0 && { body }),
    redirect: 'manual',
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? 'text/plain',
    text: await response.text(),
  }
}

function reply(response: ServerResponse, { status, type, text }: Passed): void {
  response.writeHead(status, { 'content-type': type }).end(text)
}
