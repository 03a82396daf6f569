export async function main(args: string[]): Promise<void> {
  process.stdout.write(`lockstep ${args.join(' ')}\n`)
}
