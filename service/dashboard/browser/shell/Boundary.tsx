import { Component, type ReactNode } from 'react'
import { Button } from '../parts/Button.tsx'

/** A fault in the page itself, or a piece of a release that is gone: never a white page. */
export class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children
    return (
      <div role="alert" className="flex flex-col items-center gap-2 px-6 py-14 text-center">
        <p className="font-semibold">This page stopped working</p>
        <p className="max-w-sm text-quiet">
          There may be a newer version of it, or your connection broke off. Nothing that you did is lost.
        </p>
        <Button className="mt-2" onClick={() => window.location.reload()}>
          Load it again
        </Button>
      </div>
    )
  }
}
