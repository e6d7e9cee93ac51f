import { CheckIcon, ExitIcon, GearIcon } from '@radix-ui/react-icons'
import * as Menu from '@radix-ui/react-dropdown-menu'
import { useLocation } from 'wouter'
import { toFault } from '../api/fault.ts'
import { hasEmail, isWallet, signOut, type SignedIn } from '../api/session.ts'
import { shortly } from '../../../ui-kit/format.ts'
import { chooseTheme, THEMES, useTheme, type Theme } from './theme.ts'
import { toast } from './toast.ts'

export function Account({ user }: { user: SignedIn }) {
  const theme = useTheme()
  const [, go] = useLocation()
  const leave = async (): Promise<void> => {
    try {
      await signOut()
    } catch (error) {
      toast({ tone: 'bad', text: `You are still signed in. ${toFault(error).message}` })
    }
  }
  return (
    <Menu.Root>
      <Menu.Trigger
        aria-label={`Account of ${nameOf(user)}`}
        className="inline-flex size-8 items-center justify-center rounded-full bg-sunk text-[0.8125rem] font-semibold text-ink uppercase hover:bg-line"
      >
        {nameOf(user).replace(/^0x/, '').charAt(0)}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="end" sideOffset={6} className={`${MENU} w-60`}>
          <Menu.Label className="px-2 py-1.5">
            <span className="block truncate font-medium">{nameOf(user)}</span>
            {hasEmail(user) && <span className="block truncate text-[0.8125rem] text-quiet">{user.email}</span>}
          </Menu.Label>
          <Menu.Separator className="my-1 h-px bg-line" />
          <Menu.Item className={MENU_ITEM} onSelect={() => go('/settings')}>
            <GearIcon className="text-quiet" /> Settings
          </Menu.Item>
          <Menu.RadioGroup value={theme} onValueChange={(value) => chooseTheme(value as Theme)}>
            <Menu.Label className="px-2 pt-2 pb-1 text-xs text-quiet">Theme</Menu.Label>
            {THEMES.map(([value, name]) => (
              <Menu.RadioItem
                key={value}
                value={value}
                className={MENU_ITEM}
                onSelect={(event) => {
                  // The menu stays open so that the person can try the other themes too.
                  event.preventDefault()
                }}
              >
                <span className="size-4">
                  <Menu.ItemIndicator>
                    <CheckIcon />
                  </Menu.ItemIndicator>
                </span>
                {name}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Separator className="my-1 h-px bg-line" />
          <Menu.Item className={MENU_ITEM} onSelect={() => void leave()}>
            <ExitIcon className="text-quiet" /> Sign out
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

function nameOf(user: SignedIn): string {
  if (user.name === '') return user.email
  return isWallet(user) ? shortly(user.name) : user.name
}

/* The style of all menus. */
export const MENU = 'z-50 min-w-48 animate-rise rounded-lg bg-paper p-1 shadow-lift'
export const MENU_ITEM =
  'flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none select-none data-[disabled]:cursor-not-allowed data-[highlighted]:bg-sunk'
