import { Duplex } from 'node:stream'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'

/** A pool of one connection to a fresh PostgreSQL in this process's memory, gone with the pool. */
export async function memoryPool() {
  const database = await PGlite.create()
  const pool = new pg.Pool({
    user: 'postgres',
    database: 'postgres',
    max: 1,
    idleTimeoutMillis: 0,
    stream: () => wire(database),
  })
  const end = pool.end.bind(pool)
  pool.end = async () => {
    await end()
    await database.close()
  }
  return pool
}

/** PGlite speaks the wire protocol by function calls; `pg` wants a socket. */
function wire(database) {
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      database.execProtocolRaw(chunk).then((reply) => {
        this.push(reply)
        done()
      }, done)
    },
    final(done) {
      this.push(null)
      done()
    },
  })
  const ready = () => {
    process.nextTick(() => socket.emit('connect'))
    return socket
  }
  return Object.assign(socket, {
    connect: ready,
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
    ref: () => socket,
    unref: () => socket,
  })
}
