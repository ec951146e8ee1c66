#include "viridian/cli/train/step_options.hpp"

#include <charconv>

#include "viridian/cli/train/unused_options.hpp"

namespace viridian::cli {

void add_step_options(App app, StepChoice& choice) {
    choice.given = [app](const char* option) { return app.get_option(option).count() > 0; };
    gradient::StepOptions& step = choice.step;
    app.add_option("--loss", choice.loss,
                   "cross-entropy, nll, mse, l1, huber, bce; output: the network computes it; gradient: the "
                   "gradient of the output is an input")
        .capture_default_str();
    app.add_option("--output", step.loss.output, "The output that the loss reads (default: the first)");
    app.add_option("--label-smoothing", step.loss.label_smoothing, "Share of the target that all classes get")
        .check(in_range(0.0, 1.0));
    app.add_option("--ignore-label", step.loss.ignored_label, "A label that does not count")
        .capture_default_str();
    app.add_option("--class-weights", choice.class_weights,
                   "One weight for each class: 1,2,0.5; balanced: by how often they occur (train)")
        .delimiter(',');
    app.add_option("--class-axis", choice.class_axis,
                   "Axis of the classes (default: 1; the last of three axes)");
    app.add_option("--huber-delta", step.loss.delta, "Where the Huber loss becomes linear")
        .check(positive_number());
    app.add_option("--optimizer", choice.optimizer, "sgd, adam, adamw, lamb, rmsprop; none: gradients alone")
        .capture_default_str();
    app.add_option("--momentum", step.optimizer.momentum, "Of sgd and rmsprop").check(in_range(0.0, 1.0));
    app.add_flag("--nesterov", step.optimizer.nesterov, "Nesterov's form of momentum (sgd)");
    app.add_option("--beta1", step.optimizer.beta1, "Decay of the mean of gradients (adam, adamw, lamb)")
        .check(in_range(0.0, 1.0))
        .capture_default_str();
    app.add_option("--beta2", step.optimizer.beta2, "Decay of the mean of their squares")
        .check(in_range(0.0, 1.0))
        .capture_default_str();
    app.add_option("--alpha", step.optimizer.alpha, "Decay of the mean of squares (rmsprop)")
        .check(in_range(0.0, 1.0))
        .capture_default_str();
    app.add_option("--epsilon", choice.epsilon, "Added to divisors (1e-8; lamb 1e-6)")
        .check(positive_number());
    app.add_option("--weight-decay", choice.decay,
                   "Decay of matrices and filters; biases and normalisations have none (adamw 0.01, else 0)")
        .check(in_range(0.0, 1e6));
    app.add_option("--decay-of", choice.decays, "PATTERN=DECAY: the decay of these parameters: 'embed*=0'");
    app.add_option("--clip", step.clip_norm, "Largest norm of all gradients together (default: not clipped)")
        .check(positive_number());
    app.add_option("--freeze", choice.freeze, "Parameters that are not trained: 'layer?.*'");
    app.add_option("--train", choice.train, "Parameters that are trained, out of the frozen ones");
    app.add_option("--stack", choice.stack,
                   "Whether products that read one tensor, such as queries, keys and values, become one: "
                   "separate, pairs, all; cheapest: the least predicted time (train)")
        .capture_default_str();
}

bool wants_cheapest_stacking(const StepChoice& choice) { return choice.stack == "cheapest"; }

bool wants_balance(const StepChoice& choice) {
    return choice.class_weights.size() == 1 && choice.class_weights[0] == "balanced";
}

Result<gradient::StepOptions> step_options(const StepChoice& choice) {
    gradient::StepOptions options = choice.step;
    VIRIDIAN_TRY(options.loss.kind, gradient::parse_loss(choice.loss));
    VIRIDIAN_TRY(options.optimizer.kind, gradient::parse_optimizer(choice.optimizer));
    VIRIDIAN_TRY(check_step_options_used(choice, options));
    if (choice.stack != "separate" && options.optimizer.kind == gradient::OptimizerKind::lamb)
        return fail(ErrorCode::invalid_argument, "leave --stack out, or choose another --optimizer",
                    "lamb scales the update of each parameter by norms, so parameters cannot be stacked");
    if (!wants_cheapest_stacking(choice)) {
        const auto stacking = gradient::parse_stacking(choice.stack);
        if (!stacking)
            return fail(ErrorCode::invalid_argument,
                        "choose separate, pairs or all; `viridian train` also takes cheapest",
                        "`{}` is no way to stack products", choice.stack);
        options.stacking = *stacking;
    }
    for (const std::string& text : choice.class_weights) {
        if (wants_balance(choice)) break;
        double weight = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), weight);
        if (fault != std::errc() || end != text.data() + text.size() || !(weight >= 0 && weight <= 1e9))
            return fail(ErrorCode::invalid_argument,
                        "write --class-weights 1,2,0.5 or --class-weights balanced",
                        "`{}` is not the weight of a class", text);
        options.loss.class_weights.push_back(weight);
    }
    if (choice.class_axis != 0) options.loss.class_axis = choice.class_axis;
    if (options.optimizer.kind == gradient::OptimizerKind::lamb) options.optimizer.epsilon = 1e-6;
    if (options.optimizer.nesterov && options.optimizer.momentum == 0)
        return fail(ErrorCode::invalid_argument, "give one, such as --momentum 0.9",
                    "--nesterov is a form of momentum, and there is none");
    if (options.optimizer.beta1 >= 1 || options.optimizer.beta2 >= 1)
        return fail(ErrorCode::invalid_argument, "give a number below 1, such as 0.999",
                    "--beta1 and --beta2 of 1 would never take up a gradient");
    options.optimizer.decay = options.optimizer.kind == gradient::OptimizerKind::adamw ? 0.01 : 0;
    if (choice.decay >= 0) options.optimizer.decay = choice.decay;
    if (choice.epsilon > 0) options.optimizer.epsilon = choice.epsilon;
    for (const std::string& pattern : choice.freeze) options.parameters.push_back({pattern, false});
    for (const std::string& pattern : choice.train) options.parameters.push_back({pattern, true});
    for (const std::string& text : choice.decays) {
        VIRIDIAN_TRY(gradient::DecayRule rule, gradient::parse_decay_rule(text));
        options.decays.push_back(std::move(rule));
    }
    return options;
}

}  // namespace viridian::cli
