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
import type { ComponentType } from 'react'
import type { PAGES } from '../../pages.ts'

/** Of the pages in the menu and the search. */
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
