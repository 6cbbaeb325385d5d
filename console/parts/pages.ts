/** The pages of the sidebar and the palette. */
import {
  BarChart3,
  BellRing,
  Bot,
  Cable,
  FileCode,
  FolderKanban,
  GraduationCap,
  History,
  Inbox,
  KeyRound,
  PlayCircle,
  Send,
  Settings,
  Waypoints,
  Wrench,
  Zap,
} from 'lucide-react'

/** In the order of the work: what there is, what is declared, how it is kept. */
export const PAGES = [
  { to: '/projects', label: 'Projects', icon: FolderKanban },
  { to: '/sources', label: 'Sources', icon: Cable },
  { to: '/explore', label: 'Explore', icon: Waypoints },
  { to: '/triggers', label: 'Triggers', icon: Zap },
  { to: '/firings', label: 'Firings', icon: BellRing },
  { to: '/deliveries', label: 'Deliveries', icon: Send },
  { to: '/runs', label: 'Runs', icon: PlayCircle },
  { to: '/agents', label: 'Agents', icon: Bot },
  { to: '/mcp-servers', label: 'MCP servers', icon: Wrench },
  { to: '/skills', label: 'Skills', icon: GraduationCap },
  { to: '/catalog-file', label: 'Catalog', icon: FileCode },
  { to: '/proposals', label: 'Proposals', icon: Inbox },
  { to: '/changes', label: 'Change history', icon: History },
  { to: '/usage', label: 'Usage', icon: BarChart3 },
  { to: '/settings', label: 'Settings', icon: Settings },
  { to: '/keys', label: 'API keys', icon: KeyRound },
]
