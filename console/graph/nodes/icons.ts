/** One icon for each kind of part, wherever the graph shows one. */
import { Bot, Cable, GraduationCap, type LucideIcon, Send, Wrench, Zap } from 'lucide-react'
import type { NodeKind } from '../types.ts'

export const KIND_ICONS: Record<NodeKind, LucideIcon> = {
  source: Cable,
  trigger: Zap,
  agent: Bot,
  mcp_server: Wrench,
  skill: GraduationCap,
  destination: Send,
}
