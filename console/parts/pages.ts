/** The pages of the menu and the palette. */
import {
  BarChart3,
  BellRing,
  Bot,
  Cable,
  ChartGantt,
  ChartLine,
  CircleQuestionMark,
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
  Network,
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

/** What is wrong first; then what is declared, what is at work. */
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
      { to: '/mcp-servers', label: 'Tools', icon: Wrench },
      { to: '/skills', label: 'Skills', icon: GraduationCap },
      { to: '/entities', label: 'Entities', icon: Network },
    ],
  },
  {
    group: 'Operate',
    pages: [
      { to: '/runs', label: 'Runs', icon: PlayCircle },
      { to: '/deliveries', label: 'Deliveries', icon: Send },
      { to: '/usage', label: 'Usage', icon: BarChart3 },
      { to: '/changes', label: 'Changes', icon: History },
    ],
  },
]

/** At the foot of the menu. */
export const FOOT: readonly MenuPage[] = [
  { to: '/settings', label: 'Settings', icon: Settings },
  { to: '/help', label: 'Help', icon: CircleQuestionMark },
]

/** Those that are a tab of another, or are gone to from one, are found by their own name, too. */
export const PAGES: readonly MenuPage[] = [
  ...MENU.flatMap(({ pages }) => pages),
  ...FOOT,
  { to: '/incidents?tab=firings', label: 'Firings', icon: BellRing },
  { to: '/changes', label: 'Proposals', icon: Inbox },
  { to: '/changes?tab=history', label: 'Change history', icon: History },
  { to: '/changes?tab=catalog', label: 'Catalog file', icon: FileCode },
  { to: '/settings?tab=access', label: 'API keys', icon: KeyRound },
  { to: '/settings?tab=providers', label: 'Model providers', icon: Settings },
  { to: '/settings?tab=agents', label: 'Connect an agent', icon: Plug },
  { to: '/traces', label: 'Traces', icon: ChartGantt },
  { to: '/traces?tab=metrics', label: 'Metrics', icon: ChartLine },
  { to: '/traces?tab=agents', label: 'Agents in telemetry', icon: Bot },
  { to: '/evals', label: 'Evals', icon: FlaskConical },
]

/** Whether a path is of a page or below it. */
export const isAt = (to: string, pathname: string): boolean =>
  to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`)
