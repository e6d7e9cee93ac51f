import './settings.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.tsx'
import { loadSession } from './api/session.ts'
import './style.css'

const session = loadSession()
const root = document.getElementById('root')
if (root !== null) {
  // What the document says of an open page stays until there is something to show in its place.
  if (root.hasChildNodes()) await session
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
