/** Completion for shells: the script asks this program for the words that fit, without any call to the desk. */
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { examples } from '../command.ts';

/** The library's script needs this function of the package bash-completion, which is not on every machine. */
const FOR_BASH = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    }
fi`;

/** Last: it reads the commands that are there. */
export function addCompletion(program: Command): void {
  const completion = tab(program, { completionCommandName: 'completion' });
  for (const option of program.options)
    for (const command of completion.commands.values())
      command.option((option.long ?? '').slice(2), option.description);
  const command = program.commands.find((one) => one.name() === 'completion') as Command;
  command.description('print the completion script of a shell').hook('preAction', (_, { args }) => {
    if (args[0] === 'bash') console.log(FOR_BASH);
  });
  examples(command, 'source <(bellwether completion bash)', 'source <(bellwether completion zsh)');
}
