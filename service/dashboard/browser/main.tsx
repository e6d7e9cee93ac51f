import './settings.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.tsx'
import { loadSession, wasSignedIn } from './api/session.ts'
import './style.css'

const session = loadSession()
const root = document.getElementById('root')
// What will most likely be shown is loaded at once, and not only when the session is known.
const pages = wasSignedIn() || root?.hasChildNodes() === true ? import('./Pages.tsx') : null
if (wasSignedIn()) void import('./shell/Inside.tsx')
if (root !== null) {
  // What the document says of an open page stays until there is something to show in its place.
  if (root.hasChildNodes()) await Promise.all([session, pages])
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
