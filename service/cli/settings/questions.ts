import { randomBytes } from 'node:crypto'
import { withoutTrailing } from '../../kit/text.ts'

/** A setting that only its operator knows. An empty answer leaves it out. */
export interface Question {
  name: string
  asks: string
  /** What stands above it in the file. */
  comment: string
  fallback: string
}

export function questionsOf(compose: boolean): readonly Question[] {
  return compose ? [...COMPOSE, ...COMMON] : [...SINGLE, ...COMMON]
}

const SINGLE: readonly Question[] = [
  question(
    'DATABASE_URL',
    'Address of the PostgreSQL database',
    'PostgreSQL 15 or newer, with backups; 17 or newer where an embedded database is moved to it.',
  ),
  question('PUBLIC_URL', 'Address that the world reaches, such as https://pay.example.com', ''),
  question('PORT', 'Port to listen on', 'The proxy in front forwards to this port.', '4020'),
  question('TRUST_PROXY', 'Addresses of the proxies in front', 'Whose X-Forwarded-For is believed.', 'loopback'),
]

const COMPOSE: readonly Question[] = [
  question('DOMAIN', 'Domain of the server, such as pay.example.com', 'All addresses are below this domain.'),
  question(
    'CERTIFICATES',
    'Folder with fullchain.pem and privkey.pem',
    'A folder with fullchain.pem and privkey.pem.',
    './certificates',
  ),
]

const COMMON: readonly Question[] = [
  question('LIVE', 'Take real money, true or false', 'true takes real money on base.', 'false'),
  question('BASE_RPC_URLS', 'RPC addresses of Base, with commas between', 'Two providers, so that one may fail.'),
  question('BASE_SEPOLIA_RPC_URLS', 'RPC addresses of Base Sepolia', 'The same for test tokens.'),
  question(
    'SMTP_URL',
    'Mail server, such as smtps://user:password@mail.example.com',
    'Without it no address is confirmed.',
  ),
  question('MAIL_FROM', 'Sender of mails', 'The sender of mails.'),
  question('MODELS_BASE_URL', 'Address of an OpenAI-compatible API', 'Runs prompts. Without it no prompt runs.'),
  question('MODELS_API_KEY', 'Its key', 'The key of that API.'),
]

function question(name: string, asks: string, comment: string, fallback = ''): Question {
  return { name, asks, comment, fallback }
}

/** Secrets that are made, and not asked for. They are made once: another value would lock out what was made with the first. */
export const GENERATED: readonly { name: string; comment: string; compose: boolean; make(): string }[] = [
  secret('POSTGRES_PASSWORD', 'The password of the database.', () => randomBytes(24).toString('hex'), true),
  secret('AUTH_SECRET', 'Signs sessions and links. The same in every process.', () =>
    randomBytes(32).toString('base64'),
  ),
  secret(
    'VAULT_KEY',
    'Seals stored secrets. Without it they are lost: keep a copy.',
    () => `k1:${randomBytes(32).toString('base64')}`,
  ),
  secret('METRICS_TOKEN', 'Opens /metrics.', () => randomBytes(24).toString('hex')),
]

function secret(name: string, comment: string, make: () => string, compose = false) {
  return { name, comment, make, compose }
}

/** The addresses of one process under one public address. */
export function addressesOf(publicUrl: string): Readonly<Record<string, string>> {
  const base = withoutTrailing(publicUrl, '/')
  return {
    PUBLIC_API_URL: `${base}/v1`,
    PUBLIC_TOOLS_URL: `${base}/tools`,
    PUBLIC_FACILITATOR_URL: `${base}/facilitator`,
    PUBLIC_PAY_URL: `${base}/p`,
    PUBLIC_GATE_URL: `${base}/gate`,
    PUBLIC_DASHBOARD_URL: base,
  }
}
