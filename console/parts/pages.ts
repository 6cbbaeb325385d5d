/** The pages of the menu and the palette. */
import {
  BarChart3,
  BellRing,
  Bot,
  Cable,
  FileCode,
  FileSearch,
  FlaskConical,
  FolderKanban,
  GraduationCap,
  History,
  House,
  Inbox,
  KeyRound,
  type LucideIcon,
  MessageCircleQuestion,
  PlayCircle,
  Plug,
  Send,
  Settings,
  TriangleAlert,
  Waypoints,
  Wrench,
  Zap,
} from 'lucide-react'

export interface MenuPage {
  to: string
  label: string
  icon: LucideIcon
}

/** What is wrong first; then what is declared, what is at work, how the instance is kept. */
export const MENU: readonly { group: string | null; pages: readonly MenuPage[] }[] = [
  {
    group: null,
    pages: [
      { to: '/', label: 'Home', icon: House },
      { to: '/incidents', label: 'Incidents', icon: TriangleAlert },
      { to: '/findings', label: 'Findings', icon: FileSearch },
      { to: '/explore', label: 'Explore', icon: Waypoints },
      { to: '/ask', label: 'Ask', icon: MessageCircleQuestion },
    ],
  },
  {
    group: 'Build',
    pages: [
      { to: '/projects', label: 'Projects', icon: FolderKanban },
      { to: '/sources', label: 'Sources', icon: Cable },
      { to: '/triggers', label: 'Triggers', icon: Zap },
      { to: '/agents', label: 'Agents', icon: Bot },
      { to: '/mcp-servers', label: 'MCP servers', icon: Wrench },
      { to: '/skills', label: 'Skills', icon: GraduationCap },
    ],
  },
  {
    group: 'Operate',
    pages: [
      { to: '/runs', label: 'Runs', icon: PlayCircle },
      { to: '/deliveries', label: 'Deliveries', icon: Send },
      { to: '/usage', label: 'Usage', icon: BarChart3 },
      { to: '/evals', label: 'Evals', icon: FlaskConical },
      { to: '/proposals', label: 'Proposals', icon: Inbox },
      { to: '/changes', label: 'Change history', icon: History },
      { to: '/catalog-file', label: 'Catalog', icon: FileCode },
    ],
  },
  {
    group: 'Instance',
    pages: [
      { to: '/connect', label: 'Connect', icon: Plug },
      { to: '/keys', label: 'API keys', icon: KeyRound },
      { to: '/settings', label: 'Settings', icon: Settings },
    ],
  },
]

/** Those that are a tab of another are found by their own name, too. */
export const PAGES: readonly MenuPage[] = [
  ...MENU.flatMap(({ pages }) => pages),
  { to: '/incidents?tab=firings', label: 'Firings', icon: BellRing },
]

/** Whether a path is of a page or below it. */
export const isAt = (to: string, pathname: string): boolean =>
  to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`)
