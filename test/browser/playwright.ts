import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { chromium, type Browser } from 'playwright-core'

/**
 * Playwright looks for an element again after 20, 50, 100 and 100 ms, and then every 500 ms: what takes 300 ms is seen after
 * 770. It has no option for that, so the methods that wait are replaced, in the part of it that does the work.
 */
export async function pollOften(browser: Browser): Promise<void> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const frame = prototypeOf(worker(page).mainFrame(), 'retryWithProgressAndBackoff')
  const element = prototypeOf(worker((await page.$('html'))!), '_retryAction')
  await context.close()
  if (replaced.has(frame)) return
  replaced.add(frame)
  frame['retryWithProgressAndBackoff'] = function (progress, action) {
    return this['retryWithProgressAndTimeouts']!(progress, PAUSES_MS, action)
  }
  const retryAction = element['_retryAction']!
  element['_retryAction'] = function (progress, ...options) {
    const wait = (ms: number) => (progress as Progress).wait(Math.min(ms, LONGEST_MS))
    return retryAction.call(this, { ...(progress as Progress), wait }, ...options)
  }
}

const LONGEST_MS = 100
const PAUSES_MS = [20, 50, LONGEST_MS]
const replaced = new WeakSet<Methods>()

type Methods = Record<string, (this: Methods, ...input: unknown[]) => unknown>

interface Progress {
  wait(ms: number): Promise<void>
}

/** Lets this process end while the browser runs: Playwright ends the browser then, and so does the end of its pipe. */
export function releaseProcess(browser: Browser): void {
  const { process } = worker(browser).options.browserProcess
  process.unref()
  for (const stream of process.stdio) (stream as Socket | null)?.unref()
}

/** Playwright runs in this process: each object of its API has one that does its work. */
function worker(part: object): Worker {
  return CONNECTION.toImpl(part)
}

const { _connection: CONNECTION } = chromium as unknown as { _connection: { toImpl(part: object): Worker } }

interface Worker {
  mainFrame(): object
  options: { browserProcess: { process: ChildProcess } }
}

function prototypeOf(object: object, method: string): Methods {
  const prototype = Object.getPrototypeOf(object) as Methods
  if (Object.hasOwn(prototype, method)) return prototype
  throw new Error(`This version of Playwright has no ${method}: see how it waits for elements, and change pollOften.`)
}
