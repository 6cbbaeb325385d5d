/** The pages of the menu. */
import {
  BarChart3,
  Bot,
  Cable,
  CircleQuestionMark,
  FileSearch,
  FolderKanban,
  GraduationCap,
  History,
  House,
  type LucideIcon,
  MessageCircleQuestion,
  Network,
  PlayCircle,
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

/** Pages that the menu does not name, by the one that leads to them. */
const REACHED_FROM: Readonly<Record<string, string>> = {
  firings: '/incidents',
  events: '/explore',
  traces: '/explore',
  evals: '/runs',
}

/** @returns the entry of the menu that a path is of or below; undefined: of none */
export function menuPageOf(pathname: string): MenuPage | undefined {
  const first = pathname.split('/')[1]!
  const to = REACHED_FROM[first] ?? `/${first}`
  return [...MENU.flatMap(({ pages }) => pages), ...FOOT].find((page) => page.to === to)
}
