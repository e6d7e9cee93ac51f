import {
  AvatarIcon,
  BellIcon,
  ChatBubbleIcon,
  CubeIcon,
  DashboardIcon,
  GearIcon,
  IdCardIcon,
  LightningBoltIcon,
  Link2Icon,
  LockClosedIcon,
  MixerHorizontalIcon,
  MixIcon,
  PersonIcon,
  ReaderIcon,
  RocketIcon,
  ScissorsIcon,
  Share1Icon,
  TokensIcon,
} from '@radix-ui/react-icons'
import { lazy, type ComponentType } from 'react'
import { ROUTES, type PAGES } from '../pages.ts'

export const ICONS: Record<(typeof PAGES)[number]['icon'], ComponentType<{ className?: string }>> = {
  Avatar: AvatarIcon,
  Bell: BellIcon,
  ChatBubble: ChatBubbleIcon,
  Cube: CubeIcon,
  Dashboard: DashboardIcon,
  Gear: GearIcon,
  IdCard: IdCardIcon,
  LightningBolt: LightningBoltIcon,
  Link2: Link2Icon,
  LockClosed: LockClosedIcon,
  Mix: MixIcon,
  MixerHorizontal: MixerHorizontalIcon,
  Person: PersonIcon,
  Reader: ReaderIcon,
  Rocket: RocketIcon,
  Scissors: ScissorsIcon,
  Share1: Share1Icon,
  Tokens: TokensIcon,
}

/** Each page is its own script file. */
const FILES = import.meta.glob<{ default: ComponentType }>('./pages/*.tsx')

const views = new Map(
  Object.entries(FILES).map(([file, load]) => [/(\w+)\.tsx$/.exec(file)?.[1] ?? '', lazy(load)] as const),
)

/** The view of each address; a page without a file fails at startup, before any page is shown. */
export const VIEWS: readonly (readonly [path: string, View: ComponentType])[] = ROUTES.map(([path, file]) => {
  const view = views.get(file)
  if (view === undefined) throw new Error(`There is no pages/${file}.tsx`)
  return [path, view] as const
})
