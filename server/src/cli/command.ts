import { Command } from 'commander'
import { didYouMean } from '../platform/closest.ts'
import { wrongUsage } from './exit.ts'

/** Commander, with our words for mistakes. The three methods below are those that it calls when it meets one. */
export class JetonCommand extends Command {
  override createCommand(name?: string): JetonCommand {
    return new JetonCommand(name)
  }

  unknownOption(flag: string): never {
    const word = flag.split('=', 1)[0]!
    const flags = this.createHelp()
      .visibleOptions(this)
      .flatMap((option) => option.long ?? [])
    throw wrongUsage(
      `${this.fullName} has no ${word}.${didYouMean(word, flags)} See: ${this.fullName} --help`,
    )
  }

  unknownCommand(word = this.args[0] ?? ''): never {
    const names = this.commands.map((command) => command.name())
    throw wrongUsage(
      `${this.fullName} has no ${JSON.stringify(word)}.${didYouMean(word, names)} See: ${this.fullName} --help`,
    )
  }

  missingArgument(name: string): never {
    throw wrongUsage(`${this.fullName} needs <${name}>. See: ${this.fullName} --help`)
  }

  /** `jeton key list`. */
  get fullName(): string {
    const parent = this.parent instanceof JetonCommand ? `${this.parent.fullName} ` : ''
    return parent + this.name()
  }
}
