/**
 * Options of V8 for programs that tests start. A start fills the young heap many times over at its first size: with room from
 * the beginning it takes a tenth less of the processor. No function of a program that lives for seconds runs often enough to
 * be worth the two compilers that optimize: another twelfth (2026-11-28).
 */
export const SHORT_LIVED = ['--min-semi-space-size=16', '--no-turbofan', '--no-maglev']
