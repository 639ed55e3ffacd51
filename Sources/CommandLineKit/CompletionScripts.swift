/// The shells that completion is made for.
public enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// What a user sources to have completion. The scripts know the program's name only; for everything else they ask it
/// (`PROGRAM __complete`), so that they never go stale.
enum CompletionScripts {
    static func script(_ shell: Shell, program: String) -> String {
        let function = "_" + String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        switch shell {
        case .bash: return bash.replacing("@FUNCTION@", with: function).replacing("@PROGRAM@", with: program)
        case .zsh: return zsh.replacing("@FUNCTION@", with: function).replacing("@PROGRAM@", with: program)
        case .fish: return fish.replacing("@FUNCTION@", with: "_" + function).replacing("@PROGRAM@", with: program)
        }
    }

    // Bash breaks words at = and :, the program does not: its answers are cut to the part that bash replaces.
    private static let bash = #"""
        # Completion of @PROGRAM@ for bash: source <(@PROGRAM@ completion bash)
        @FUNCTION@() {
            local line="${COMP_LINE:0:COMP_POINT}" current="${COMP_WORDS[COMP_CWORD]}" head word prefix text quoted
            local -a answer
            mapfile -t answer < <("${COMP_WORDS[0]}" __complete --line "$line" 2>/dev/null)
            head="${answer[0]%% *}"
            word="${answer[0]#* }"
            [[ "$current" == [=:] ]] && current=""
            prefix="${word%"$current"}"
            [[ "$prefix" == "$word" && -n "$current" ]] && prefix=""
            COMPREPLY=()
            case "$head" in
                files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
                folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
                words | open)
                    [[ "$head" == open ]] && compopt -o nospace
                    for text in "${answer[@]:1}"; do
                        text="${text%%$'\t'*}"
                        printf -v quoted '%q' "${text#"$prefix"}"
                        COMPREPLY+=("$quoted")
                    done
                    ;;
            esac
        }
        complete -F @FUNCTION@ @PROGRAM@

        """#

    private static let zsh = #"""
        #compdef @PROGRAM@
        # Completion of @PROGRAM@ for zsh: source <(@PROGRAM@ completion zsh), or save it as _@PROGRAM@ in a folder of $fpath
        @FUNCTION@() {
            local -a answer texts shown spacing
            local line text
            answer=("${(@f)$("${words[1]}" __complete --words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            case "${answer[1]%% *}" in
                files) _files; return ;;
                folders) _files -/; return ;;
                open) spacing=(-S '') ;;
            esac
            for line in "${(@)answer[2,-1]}"; do
                text="${line%%$'\t'*}"
                texts+=("$text")
                [[ "$line" == *$'\t'* ]] && shown+=("$text  -- ${line#*$'\t'}") || shown+=("$text")
            done
            (( ${#texts} )) && compadd -l "${spacing[@]}" -d shown -a texts
        }
        if [[ "${funcstack[1]}" == _@PROGRAM@ ]]; then @FUNCTION@ "$@"; else compdef @FUNCTION@ @PROGRAM@; fi

        """#

    private static let fish = #"""
        # Completion of @PROGRAM@ for fish: @PROGRAM@ completion fish | source
        function @FUNCTION@
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            set -l answer ($words[1] __complete --words -- $words[2..-1] "$current" 2>/dev/null)
            switch "$answer[1]"
                case 'files *'
                    __fish_complete_path "$current"
                case 'folders *'
                    __fish_complete_directories "$current"
                case '*'
                    printf '%s\n' $answer[2..-1]
            end
        end
        complete -c @PROGRAM@ -f -a '(@FUNCTION@)'

        """#
}

/// Splits the beginning of a command line as a POSIX shell does: quotes and backslashes, nothing else.
public enum ShellWords {
    /// The words; the last one is at the cursor, empty after a space. An open quote is taken to end there.
    public static func split(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var hasWord = false
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
                hasWord = true
            } else if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                hasWord = true
            } else if character == " " || character == "\t" || character == "\n" {
                if hasWord { words.append(word) }
                word = ""
                hasWord = false
            } else {
                word.append(character)
                hasWord = true
            }
        }
        return words + [word]
    }
}
