import * as Dialog from '@radix-ui/react-dialog'
import { Command } from 'cmdk'
import { useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { chooseEnvironment, useEnvironment, settings } from '../settings.ts'
import { PAGES, type Page } from '../../pages.ts'
import { ICONS } from './icons.ts'
import { chooseTheme, THEMES } from './theme.ts'

/** Every page and the main actions by name, without a mouse. A pasted id leads to its object. */
export default function Palette({ close }: { close: () => void }) {
  const [, go] = useLocation()
  const at = useEnvironment()
  const [text, setText] = useState('')
  const to = (path: string) => () => {
    go(path)
    close()
  }
  const then = (act: () => void) => () => {
    act()
    close()
  }
  const named = addressOf(text.trim())
  return (
    <Dialog.Root open onOpenChange={close}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-fade bg-cover" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[12vh] z-40 mx-auto max-w-lg animate-rise overflow-hidden rounded-xl bg-paper shadow-lift"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Command label="Pages and actions" loop>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Go to a page, run an action, or paste an ID"
              className="h-12 w-full border-b border-line bg-paper px-4 text-base outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-quiet">No matching page or action.</Command.Empty>
              {named !== null && (
                <Item name={`Open ${text.trim()}`} select={to(named)}>
                  {text.trim()}
                </Item>
              )}
              <Command.Group heading="Pages" className={GROUP}>
                {PAGES.map(({ path, name, icon }) => {
                  const Icon = ICONS[icon]
                  return (
                    <Item key={path} name={name} select={to(path)}>
                      <Icon className="text-quiet" />
                      {name}
                    </Item>
                  )
                })}
              </Command.Group>
              <Command.Group heading="Actions" className={GROUP}>
                {PAGES.flatMap(({ acts = [] }: Page) =>
                  acts.map(([name, path]) => (
                    <Item key={path} name={name} select={to(path)}>
                      {name}
                    </Item>
                  )),
                )}
                {settings.live && (
                  <Item
                    name="Switch environment sandbox production"
                    select={then(() => chooseEnvironment(at === 'sandbox' ? 'production' : 'sandbox'))}
                  >
                    Switch to {at === 'sandbox' ? 'production' : 'the sandbox'}
                  </Item>
                )}
                {THEMES.map(([theme, name]) => (
                  <Item key={theme} name={`Theme ${theme}`} select={then(() => chooseTheme(theme))}>
                    Theme: {name.toLowerCase()}
                  </Item>
                ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

const GROUP =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-quiet'

function Item({ name, select, children }: { name: string; select: () => void; children: ReactNode }) {
  return (
    <Command.Item
      value={name}
      onSelect={select}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-sunk"
    >
      {children}
    </Command.Item>
  )
}

function addressOf(text: string): string | null {
  const prefix = /^([a-z]+)_[0-9a-z]{10,}$/i.exec(text)?.[1]
  const page = PAGES.find(({ ids }: Page) => ids !== undefined && ids === prefix)
  return page === undefined ? null : `${page.path}/${text}`
}
