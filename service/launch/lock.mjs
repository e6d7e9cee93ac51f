import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from './run.mjs'

/** Two launches of one clone would overwrite each other's files, so the second waits for the first. */
export async function alone(work) {
  const file = path.join(root, '.build/prepare.lock')
  mkdirSync(path.dirname(file), { recursive: true })
  for (let waited = false; !take(file); waited = true) {
    if (!waited) process.stderr.write('Waiting for another launch of this clone …\n')
    await delay(200)
  }
  const release = () => rmSync(file, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    release()
    process.off('exit', release)
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (!isAlive(file)) rmSync(file, { force: true })
    return false
  }
}

function isAlive(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // The file is still empty: its process has created it but not written its id yet.
    if (pid === 0) return true
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
