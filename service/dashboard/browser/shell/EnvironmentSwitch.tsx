import { CheckIcon, ChevronDownIcon } from '@radix-ui/react-icons'
import * as Menu from '@radix-ui/react-dropdown-menu'
import { chooseEnvironment, useEnvironment, type Environment, settings } from '../settings.ts'
import { MENU, MENU_ITEM } from './Account.tsx'

/** Always in sight: play money must never be taken for real money, or the other way round. */
export function EnvironmentSwitch() {
  const at = useEnvironment()
  return (
    <Menu.Root>
      <Menu.Trigger
        className={`inline-flex h-8 items-center gap-1.5 rounded-[7px] px-2.5 text-[0.8125rem] font-medium ${
          at === 'sandbox' ? 'bg-warn-soft text-warn' : 'bg-good-soft text-good'
        }`}
      >
        <span className="sr-only">Environment: </span>
        {NAMES[at]}
        <ChevronDownIcon />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="end" sideOffset={6} className={`${MENU} w-72`}>
          <Menu.RadioGroup value={at} onValueChange={(value) => chooseEnvironment(value as Environment)}>
            <Item value="sandbox">Play money. Nothing is charged.</Item>
            <Item value="production" disabled={!settings.live}>
              {settings.live ? 'Real USDC moves.' : 'Not available: this server runs without LIVE=true.'}
            </Item>
          </Menu.RadioGroup>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

const NAMES: Record<Environment, string> = { sandbox: 'Sandbox', production: 'Production' }

function Item({ value, disabled = false, children }: { value: Environment; disabled?: boolean; children: string }) {
  return (
    <Menu.RadioItem value={value} disabled={disabled} className={`${MENU_ITEM} items-start py-2`}>
      <span className="mt-0.5 size-4">
        <Menu.ItemIndicator>
          <CheckIcon />
        </Menu.ItemIndicator>
      </span>
      <span>
        <span className="block font-medium">{NAMES[value]}</span>
        <span className="block text-[0.8125rem] text-quiet">{children}</span>
      </span>
    </Menu.RadioItem>
  )
}
