"""What `speed.py` times: training steps of one network in both programs. Needs nothing but Python."""
import dataclasses

SGD = ["--optimizer", "sgd", "--momentum", "0.9"]
ADAMW = ["--optimizer", "adamw", "--weight-decay", "0"]


@dataclasses.dataclass
class Task:
    """`zoo` and `gradient`: options of these commands. `rounds`: how often each system has its turn, by default."""
    zoo: list
    gradient: list
    rounds: int = 5

    def option(self, name, other):
        return self.zoo[self.zoo.index(name) + 1] if name in self.zoo else other


def encoder(batch, sequence, dropout, rounds, network="encoder_layer"):
    shape = [network, "--batch", str(batch), "--sequence", str(sequence), "--dropout", str(dropout)]
    return Task(shape, ["--loss", "mse", *ADAMW], rounds)


TASKS = {
    "encoder_b4_s128": encoder(4, 128, 0, 5),
    "encoder_b4_s128_dropout": encoder(4, 128, 0.1, 5),
    "resnet50_b8": Task(["resnet50", "--batch", "8"], SGD, 3),
    "mobilenet_v2_b8": Task(["mobilenet_v2", "--batch", "8"], SGD, 5),
    "alexnet_b8": Task(["alexnet", "--batch", "8"], SGD, 3),
    "vgg16_b4": Task(["vgg16", "--batch", "4"], SGD, 2),
    "inception_v3_b4": Task(["inception_v3", "--batch", "4"], SGD, 2),
    "dcgan_generator_b16": Task(["dcgan_generator", "--batch", "16"], ["--loss", "mse", *SGD], 3),
    "dcgan_discriminator_b16": Task(["dcgan_discriminator", "--batch", "16"], ["--loss", "mse", *SGD], 3),
    "mlp_b32": Task(["mlp", "--batch", "32"], SGD, 5),
    "small_cnn_b32": Task(["small_cnn", "--batch", "32"], SGD, 5),
    "small_resnet_b32": Task(["small_resnet", "--batch", "32"], SGD, 5),
    "small_transformer_b8": Task(["small_transformer", "--batch", "8"], ADAMW, 5),
    "gpt2_b4_s256": Task(["gpt2", "--batch", "4", "--sequence", "256"], ADAMW, 2),
    "encoder_b8_s512": encoder(8, 512, 0, 2),
    "encoder_b8_s512_dropout": encoder(8, 512, 0.1, 2),
    "encoder_b96_s128": encoder(96, 128, 0, 2),
    "mha_b4_s128": encoder(4, 128, 0, 5, "mha"),
    "mha_b4_s128_dropout": encoder(4, 128, 0.1, 5, "mha"),
    "mha_b8_s512": encoder(8, 512, 0, 2, "mha"),
    "mha_b8_s512_dropout": encoder(8, 512, 0.1, 2, "mha"),
}
