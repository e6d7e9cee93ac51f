/* One look for all menus. */
export const MENU = 'z-50 min-w-48 animate-rise rounded-lg bg-paper p-1 shadow-lift'
export const MENU_ITEM =
  'flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none select-none data-[disabled]:cursor-not-allowed data-[highlighted]:bg-sunk'
