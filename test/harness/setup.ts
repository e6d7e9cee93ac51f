import fc from 'fast-check'

/** Every generated case follows from one seed: a commit has the same tests each time. `npm run prove` draws new ones. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) })
